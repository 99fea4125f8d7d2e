// A log that is read page by page: each further page is added below.
import { useSignal } from "../state/signal.js";
import { useEffect } from "preact/hooks";
import type { LogPage } from "../api/service.js";
import { messageOf } from "../api/http.js";
import { Button } from "../kit/button.js";
import { say } from "../kit/toast.js";
import { useResource, type Resource } from "../state/resource.js";

export interface Log<T> extends Resource<readonly T[]> {
  readonly hasMore: boolean;
  readonly loadingMore: boolean;
  more(): void;
}

export function useLog<T>(load: (cursor: string | null, signal?: AbortSignal) => Promise<LogPage<T>>, dependencies: readonly unknown[]): Log<T> {
  const first = useResource((signal) => load(null, signal), dependencies, { keep: true });
  const further = useSignal<readonly T[]>([]);
  const cursor = useSignal<string | null>(null);
  const loadingMore = useSignal(false);
  useEffect(() => {
    further.value = [];
    cursor.value = first.data?.nextCursor ?? null;
  }, [first.data]);
  const more = async () => {
    loadingMore.value = true;
    try {
      const page = await load(cursor.value);
      further.value = [...further.value, ...page.items];
      cursor.value = page.nextCursor;
    } catch (error) {
      say(messageOf(error), { kind: "wrong" });
    } finally {
      loadingMore.value = false;
    }
  };
  return {
    ...first,
    data: first.data === undefined ? undefined : [...first.data.items, ...further.value],
    set: () => undefined,
    hasMore: cursor.value !== null,
    loadingMore: loadingMore.value,
    more: () => void more(),
  };
}

export function LogPager<T>({ log }: { readonly log: Log<T> }) {
  return (
    <div class="row">
      <Button icon="refresh" busy={log.loading} onClick={log.reload}>Load again</Button>
      {log.hasMore && <Button busy={log.loadingMore} onClick={log.more}>Show older</Button>}
    </div>
  );
}
