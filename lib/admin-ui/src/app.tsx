// What is shown: the way in, or the shell with the screen that the address names.
import type { ComponentType } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";
import { Button } from "./kit/button.js";
import { Confirmation } from "./kit/confirm.js";
import { Actions, Dialog } from "./kit/dialog.js";
import { Failure, Loading } from "./kit/page.js";
import { Toasts } from "./kit/toast.js";
import { ExpiredSession, SignInScreen } from "./screens/sign-in.js";
import { SetupScreen } from "./screens/setup.js";
import { TenantsScreen } from "./screens/tenants.js";
import { Shell } from "./shell.js";
import { answerLeaving, leaving, route } from "./state/route.js";
import { onSharedChange } from "./state/signal.js";
import { loadSession, session } from "./state/session.js";
import { loadTenants } from "./state/tenants.js";

export function App() {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  onSharedChange(() => redraw(undefined));
  return (
    <>
      <Content />
      <Confirmation />
      <ExpiredSession />
      <Leaving />
      <Toasts />
    </>
  );
}

function Content() {
  const state = session.value;
  const first = route.value.segments[0];
  if (first === "setup" && state.state !== "signedIn") return <SetupScreen />;
  if (state.state === "unknown") return <main class="sign-in"><Loading what="the page" /></main>;
  if (state.state === "unreachable") return <main class="sign-in"><Failure message={state.message} onRetry={() => void loadSession()} /></main>;
  if (state.state === "signedOut") return <SignInScreen />;
  return <Shell><Screen /></Shell>;
}

const firstScreen: readonly (string | undefined)[] = [undefined, "tenants", "sign-in", "setup"];

function Screen() {
  useEffect(() => {
    void loadTenants();
  }, []);
  return firstScreen.includes(route.value.segments[0]) ? <TenantsScreen /> : <Work />;
}

/** The screens whose code is loaded when the first of them is opened, so that the page itself comes fast. */
function Work() {
  const [Loaded, setLoaded] = useState<ComponentType | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    import("./work.js").then(({ WorkScreen }) => setLoaded(() => WorkScreen), () => setFailed(true));
  }, []);
  if (Loaded !== null) return <Loaded />;
  return failed ? <Failure message="This screen could not be loaded. If the service was updated, load the page again." onRetry={() => location.reload()} /> : <Loading what="the screen" />;
}

function Leaving() {
  if (leaving.value === null) return null;
  return (
    <Dialog title="Leave without saving?" onClose={() => answerLeaving(false)}>
      <p>There are changes on this screen that are not saved.</p>
      <Actions>
        <Button kind="primary" onClick={() => answerLeaving(false)}>Stay here</Button>
        <Button kind="danger" onClick={() => answerLeaving(true)}>Leave and drop the changes</Button>
      </Actions>
    </Dialog>
  );
}
