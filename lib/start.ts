// Start: opens the service once, and again where the first try failed.

export interface Start {
  /** Opens where it is not open. Rejects with what failed; a later call tries again. */
  run(): Promise<void>;
  /** What a request has to wait for; undefined once open. */
  pending(): Promise<void> | undefined;
  /** The try under way, however it ends. */
  settled(): Promise<void>;
}

export function createStart(open: () => Promise<void>): Start {
  let isOpen = false;
  let trying: Promise<void> | undefined;

  function run(): Promise<void> {
    if (isOpen) return Promise.resolve();
    trying ??= open().then(
      () => {
        isOpen = true;
      },
    ).finally(() => {
      trying = undefined;
    });
    return trying;
  }

  return {
    run,
    pending: () => (isOpen ? undefined : run()),
    settled: async () => {
      await trying?.catch(() => undefined);
    },
  };
}
