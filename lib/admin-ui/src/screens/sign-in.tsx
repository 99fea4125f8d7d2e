// The way in: name and password, then the code of the second factor. Also above a screen whose session ran out.
import { bind, useSignal } from "../state/signal.js";
import { useEffect } from "preact/hooks";
import { ApiError } from "../api/http.js";
import { admin } from "../api/service.js";
import iconUrl from "../icon.svg";
import { Button } from "../kit/button.js";
import { Dialog } from "../kit/dialog.js";
import { FormError, TextField } from "../kit/field.js";
import { go, link, route } from "../state/route.js";
import { expired, giveUpSession, signedIn } from "../state/session.js";
import { useSubmit } from "../state/submit.js";

export function SignInScreen() {
  useEffect(() => {
    document.title = "Sign in · Records service";
  }, []);
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <div class="brand"><img src={iconUrl} alt="" width={26} height={26} />Records service</div>
        <h1>Sign in</h1>
        <SignInForm onDone={() => {
          if (route.value.segments[0] === "sign-in") go(link(["tenants"]), { replace: true });
        }} />
        <p class="hint">First run, or locked out? <a href={link(["setup"])}>Use a setup token</a> from the service's log.</p>
      </div>
    </main>
  );
}

export function ExpiredSession() {
  if (expired.value === null) return null;
  return (
    <Dialog title="Sign in again" onClose={giveUpSession} locked>
      <p>The session has ended. Sign in to go on: what you typed is still there.</p>
      <SignInForm onDone={() => undefined} />
      <Button kind="quiet" onClick={giveUpSession}>Leave, and drop what is not saved</Button>
    </Dialog>
  );
}

function SignInForm({ onDone }: { readonly onDone: () => void }) {
  const username = useSignal("");
  const password = useSignal("");
  const code = useSignal("");
  const step = useSignal<"password" | "code">("password");
  const finish = async () => {
    await signedIn();
    onDone();
  };
  const first = useSubmit(async () => {
    const answer = await retold(() => admin.login(username.value.trim(), password.value));
    if (answer.twoFactorRequired) {
      step.value = "code";
      return;
    }
    await finish();
  });
  const second = useSubmit(async () => {
    try {
      await retold(() => admin.secondFactor(code.value.trim()));
    } catch (error) {
      code.value = "";
      throw error;
    }
    await finish();
  });
  if (step.value === "code") {
    return (
      <form onSubmit={second.run}>
        <TextField
          label="Code of the second factor"
          hint="Six digits from your authenticator app, or one of your recovery codes."
          {...bind(code)}
          autoComplete="one-time-code"
          autoFocus
          required
          mono
        />
        <FormError message={second.message} />
        <Button kind="primary" submit busy={second.busy}>Sign in</Button>
        <Button kind="quiet" onClick={() => { step.value = "password"; }}>Back to the password</Button>
      </form>
    );
  }
  return (
    <form onSubmit={first.run}>
      <TextField label="User name" {...bind(username)} autoComplete="username" autoFocus required />
      <TextField label="Password" type="password" {...bind(password)} autoComplete="current-password" required />
      <FormError message={first.message} />
      <Button kind="primary" submit busy={first.busy}>Sign in</Button>
    </form>
  );
}

/** Failures of a sign-in in words that say what to do. */
async function retold<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 429) throw new ApiError(429, "Too many sign-ins at this moment. Try again in a second.");
    if (error.status === 401) throw new ApiError(401, error.message === "Unauthorized" ? "The code is wrong or the attempt has ended. Try again, or go back to the password." : "The user name or the password is wrong.");
    throw error;
  }
}
