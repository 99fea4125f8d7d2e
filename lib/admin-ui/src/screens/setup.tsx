// First run: the token of the log line makes the superadmin. The same token kind recovers a lost account.
import { bind, useSignal } from "../state/signal.js";
import { useEffect } from "preact/hooks";
import { ApiError } from "../api/http.js";
import { admin } from "../api/service.js";
import iconUrl from "../icon.svg";
import { Button } from "../kit/button.js";
import { FormError, TextField } from "../kit/field.js";
import { go, link, route } from "../state/route.js";
import { signedIn } from "../state/session.js";
import { useSubmit } from "../state/submit.js";

export const shortestPassword = 16;

export function SetupScreen() {
  const token = useSignal(route.value.query.get("token") ?? "");
  const username = useSignal("");
  const password = useSignal("");
  const again = useSignal("");
  const tried = useSignal(false);
  useEffect(() => {
    document.title = "Set up · Records service";
    // The token works once, but it has no business in the browser's history.
    if (route.value.query.has("token")) go(link(["setup"]), { replace: true });
  }, []);
  const wrongPassword = [...password.value].length < shortestPassword ? `At least ${shortestPassword} characters: a sentence is easy to remember.` : undefined;
  const wrongAgain = again.value !== password.value ? "The two passwords differ." : undefined;
  const submit = useSubmit(async () => {
    tried.value = true;
    if (wrongPassword !== undefined || wrongAgain !== undefined) return;
    try {
      await admin.setup(token.value.trim(), username.value.trim(), password.value);
    } catch (error) {
      if (error instanceof ApiError && error.status === 400 && error.fields.length === 0) throw new ApiError(400, "", [{ field: "token", message: "This token is unknown, used or older than 30 minutes. Restart the service, or run records-service setup-token, for a new one." }]);
      throw error;
    }
    await admin.login(username.value.trim(), password.value);
    await signedIn();
    go(link(["tenants"]), { replace: true });
  });
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <div class="brand"><img src={iconUrl} alt="" width={26} height={26} />Records service</div>
        <h1>Set up the superadmin</h1>
        <form onSubmit={submit.run}>
          <TextField label="Setup token" hint="From the line “setup token” in the log of the service. Valid for 30 minutes, once." {...bind(token)} error={submit.error("token")} required mono autoFocus={token.value === ""} />
          <TextField label="User name" {...bind(username)} error={submit.error("username")} autoComplete="username" required autoFocus={token.value !== ""} />
          <TextField label="Password" type="password" hint={`At least ${shortestPassword} characters.`} {...bind(password)} error={submit.error("password") ?? (tried.value ? wrongPassword : undefined)} autoComplete="new-password" required />
          <TextField label="Password again" type="password" {...bind(again)} error={tried.value ? wrongAgain : undefined} autoComplete="new-password" required />
          <FormError message={submit.message} />
          <Button kind="primary" submit busy={submit.busy}>Create the superadmin</Button>
        </form>
        <p class="hint">Already set up? <a href={link(["sign-in"])}>Sign in</a></p>
      </div>
    </main>
  );
}
