// A form with changes that are not saved, as leaving the screen asks about it.
import { useLayoutEffect, useMemo } from "preact/hooks";
import { markUnsaved } from "./route.js";

/** Marks the form while it has changes. The function that comes back takes the mark away, for who leaves by himself. */
export function useUnsaved(changed: boolean): () => void {
  const form = useMemo(() => ({}), []);
  useLayoutEffect(() => {
    markUnsaved(form, changed);
    return () => markUnsaved(form, false);
  }, [changed]);
  return () => markUnsaved(form, false);
}
