// Turns: runs what is asked for under the same name one after another.

export type Turns = <T>(name: string, run: () => Promise<T>) => Promise<T>;

/** Each `run` begins when all former ones of its name have ended, however they ended. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return (name, run) => {
    const mine = (last.get(name) ?? Promise.resolve()).then(run);
    const ended = mine.then(() => undefined, () => undefined).then(() => {
      if (last.get(name) === ended) last.delete(name);
    });
    last.set(name, ended);
    return mine;
  };
}
