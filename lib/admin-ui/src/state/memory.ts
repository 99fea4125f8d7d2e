// Small preferences kept in this browser. A browser that refuses storage only forgets them.

export function recall(name: string): string | null {
  try {
    return localStorage.getItem(`records-service.${name}`);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`records-service.${name}`, value);
  } catch {
    // Storage is off or full: the preference lasts as long as the page.
  }
}
