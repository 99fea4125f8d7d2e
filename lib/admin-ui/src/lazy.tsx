// A screen whose code is loaded when it is first opened, so that the first one comes fast.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure, Loading } from "./kit/page.js";

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [Screen, setScreen] = useState<ComponentType<P> | null>(() => loaded);
    const [failed, setFailed] = useState(false);
    const start = () => {
      setFailed(false);
      load().then(
        (component) => {
          loaded = component;
          setScreen(() => component);
        },
        () => setFailed(true),
      );
    };
    useEffect(() => {
      if (loaded === null) start();
    }, []);
    if (Screen !== null) return <Screen {...props} />;
    return failed ? <Failure message="This screen could not be loaded. If the service was updated, reload the page." onRetry={() => location.reload()} /> : <Loading what="the screen" />;
  };
}
