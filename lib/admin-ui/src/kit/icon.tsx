// Line icons, drawn with the text's colour. They never carry meaning alone: each stands beside a word or in a labelled button.

const paths = {
  tenants: "M3 21h18M5 21V5l7-3v19M19 21V9l-7-3M8 8h1M8 12h1M8 16h1M15 12h1M15 16h1",
  table: "M3 5h18v14H3zM3 10h18M9 10v9",
  users: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21v-1a6 6 0 0 1 6-6h2a6 6 0 0 1 6 6v1M16 3a4 4 0 0 1 0 8M22 21v-1a6 6 0 0 0-4-5.6",
  key: "M14 10a4 4 0 1 1-1.2-2.8M13 9l8 0M18 9v4M21 9v3",
  hook: "M9 17H7A5 5 0 0 1 7 7h2M15 7h2a5 5 0 0 1 0 10h-2M8 12h8",
  settings: "M4 6h10M18 6h2M4 12h2M10 12h10M4 18h8M16 18h4M14 4v4M6 10v4M12 16v4",
  log: "M4 4h16v16H4zM8 9h8M8 13h8M8 17h4",
  backup: "M12 3v12M7 10l5 5 5-5M4 17v4h16v-4",
  upload: "M12 16V4M7 9l5-5 5 5M4 17v4h16v-4",
  live: "M13 2 4 14h7l-1 8 9-12h-7z",
  code: "m8 7-5 5 5 5M16 7l5 5-5 5M13 4l-2 16",
  figures: "M4 20V10M10 20V4M16 20v-8M21 20H3",
  plus: "M12 5v14M5 12h14",
  trash: "M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "m5 12 5 5L20 7",
  close: "M6 6l12 12M18 6 6 18",
  down: "m6 9 6 6 6-6",
  up: "m6 15 6-6 6 6",
  left: "m15 6-6 6 6 6",
  menu: "M4 6h16M4 12h16M4 18h16",
  file: "M6 2h8l5 5v15H6zM14 2v5h5",
  warning: "M12 3 2 20h20zM12 10v4M12 17v.5",
  refresh: "M20 11a8 8 0 1 0-2 6M20 4v7h-7",
  leave: "M10 4H4v16h6M15 8l4 4-4 4M19 12H9",
  account: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0",
  rule: "M12 3 4 6v6c0 5 3.5 8 8 9 4.500-1 8-4 8-9V6zM9 12l2 2 4-4",
  schema: "M4 4h6v6H4zM14 14h6v6h-6zM10 7h7v7",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  filter: "M3 5h18l-7 8v6l-4 2v-8z",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
