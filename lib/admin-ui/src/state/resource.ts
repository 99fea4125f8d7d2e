// What a screen loads: its data, its failure, and the way to load it again. A newer load drops the older one.
import { useSignal } from "./signal.js";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { ApiError } from "../api/http.js";

export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
  reload(): void;
  /** Puts data in place without loading. */
  set(data: T): void;
}

interface State<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
}

/** Loads when a dependency changes; data of the former load stays until the new one is there, where `keep` is set. */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, dependencies: readonly unknown[], options: { readonly keep?: boolean } = {}): Resource<T> {
  const state = useSignal<State<T>>({ data: undefined, error: undefined, loading: true });
  const running = useRef<AbortController | null>(null);
  const latest = useRef(load);
  latest.current = load;
  const run = useCallback((keep: boolean) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    state.value = { data: keep ? state.value.data : undefined, error: undefined, loading: true };
    latest.current(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) state.value = { data, error: undefined, loading: false };
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        state.value = { data: keep ? state.value.data : undefined, error: error instanceof ApiError ? error : new ApiError(0, String(error)), loading: false };
      },
    );
  }, []);
  useEffect(() => {
    run(options.keep === true);
    return () => running.current?.abort();
  }, dependencies);
  return {
    ...state.value,
    reload: () => run(true),
    set: (data) => {
      state.value = { data, error: undefined, loading: false };
    },
  };
}
