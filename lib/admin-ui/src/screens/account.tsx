// The superadmin's own account: password and second factor.
import { bind, useSignal } from "../state/signal.js";
import { admin } from "../api/service.js";
import { Button } from "../kit/button.js";
import { CopyField, CopyButton } from "../kit/copy.js";
import { Dialog } from "../kit/dialog.js";
import { TextField } from "../kit/field.js";
import { FormEnd } from "../kit/form-end.js";
import { Badge, Card, Page } from "../kit/page.js";
import { say } from "../kit/toast.js";
import { qrModules, qrPath } from "../qr.js";
import { loadSession, session } from "../state/session.js";
import { useSubmit } from "../state/submit.js";
import { shortestPassword } from "./setup.js";

export function AccountScreen() {
  const me = session.value.state === "signedIn" ? session.value.superadmin : null;
  if (me === null) return null;
  return (
    <Page title="Account" lead={<>Signed in as <strong>{me.username}</strong>, the superadmin of this service.</>}>
      <div class="columns">
        <PasswordCard />
        <TwoFactorCard enabled={me.twoFactorEnabled} codesLeft={me.recoveryCodesLeft ?? null} />
      </div>
    </Page>
  );
}

function PasswordCard() {
  const password = useSignal("");
  const next = useSignal("");
  const again = useSignal("");
  const tried = useSignal(false);
  const short = [...next.value].length < shortestPassword ? `At least ${shortestPassword} characters.` : undefined;
  const different = next.value !== again.value ? "The two passwords differ." : undefined;
  const submit = useSubmit(async () => {
    tried.value = true;
    if (short !== undefined || different !== undefined) return;
    await admin.changePassword(password.value, next.value);
    for (const field of [password, next, again]) field.value = "";
    tried.value = false;
    say("The password is changed. Every other session has ended.");
  });
  return (
    <Card title="Password">
      <form class="stack" onSubmit={submit.run}>
        <TextField label="Present password" type="password" {...bind(password)} error={submit.error("password")} autoComplete="current-password" required />
        <TextField label="New password" type="password" {...bind(next)} error={submit.error("newPassword") ?? (tried.value ? short : undefined)} hint={`At least ${shortestPassword} characters.`} autoComplete="new-password" required />
        <TextField label="New password again" type="password" {...bind(again)} error={tried.value ? different : undefined} autoComplete="new-password" required />
        <FormEnd submit={submit} text="Change the password" />
      </form>
    </Card>
  );
}

interface Enrolment {
  readonly secret: string;
  readonly uri: string;
  readonly recoveryCodes: readonly string[];
}

function TwoFactorCard({ enabled, codesLeft }: { readonly enabled: boolean; readonly codesLeft: number | null }) {
  const step = useSignal<"none" | "on" | "off">("none");
  const enrolment = useSignal<Enrolment | null>(null);
  const close = () => {
    step.value = "none";
    enrolment.value = null;
  };
  return (
    <Card title="Second factor" actions={<Badge tone={enabled ? "good" : "warn"}>{enabled ? "on" : "off"}</Badge>}>
      <p class="muted">{enabled ? "Signing in asks for a code of your authenticator app, or for a recovery code." : "A code of an authenticator app, beside the password. Recommended wherever the service can be reached from outside."}</p>
      {enabled && codesLeft !== null && <p class="muted">{codesLeft} recovery {codesLeft === 1 ? "code is" : "codes are"} left.</p>}
      <div>
        {enabled ? <Button onClick={() => { step.value = "off"; }}>Switch it off</Button> : <Button kind="primary" onClick={() => { step.value = "on"; }}>Set it up</Button>}
      </div>
      {step.value !== "none" && enrolment.value === null && (
        <PasswordDialog
          title={step.value === "on" ? "Set up the second factor" : "Switch the second factor off"}
          action={step.value === "on" ? "Go on" : "Switch it off"}
          onClose={close}
          run={async (password) => {
            if (step.value === "on") {
              enrolment.value = await admin.startTwoFactor(password);
              return;
            }
            await admin.stopTwoFactor(password);
            await loadSession();
            close();
            say("The second factor is off.");
          }}
        />
      )}
      {enrolment.value !== null && <EnrolDialog enrolment={enrolment.value} onClose={close} />}
    </Card>
  );
}

function PasswordDialog(props: { readonly title: string; readonly action: string; readonly onClose: () => void; readonly run: (password: string) => Promise<void> }) {
  const password = useSignal("");
  const submit = useSubmit(() => props.run(password.value));
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form onSubmit={submit.run}>
        <TextField label="Your password" type="password" {...bind(password)} error={submit.error("password")} autoComplete="current-password" autoFocus required />
        <FormEnd submit={submit} text={props.action} onCancel={props.onClose} />
      </form>
    </Dialog>
  );
}

function EnrolDialog({ enrolment, onClose }: { readonly enrolment: Enrolment; readonly onClose: () => void }) {
  const code = useSignal("");
  const modules = qrModules(enrolment.uri);
  const submit = useSubmit(async () => {
    await admin.confirmTwoFactor(code.value.trim());
    await loadSession();
    onClose();
    say("The second factor is on. Keep the recovery codes in a safe place.");
  });
  return (
    <Dialog title="Set up the second factor" onClose={onClose} wide>
      <div class="columns">
        <div class="stack">
          <p>1. {modules === null ? "Type this key into an authenticator app." : "Scan this with an authenticator app, or type the key."}</p>
          {modules !== null && <svg class="qr" viewBox="-1 -1 59 59" role="img" aria-label="QR code with the key; the key stands below as text"><path d={qrPath(modules)} shape-rendering="crispEdges" /></svg>}
          <CopyField label="Key" text={enrolment.secret} what="key" />
        </div>
        <div class="stack">
          <p>2. Keep these recovery codes. Each works once, when the app is not at hand. They are shown this once.</p>
          <ul class="codes">{enrolment.recoveryCodes.map((item) => <li key={item}>{item}</li>)}</ul>
          <div><CopyButton text={enrolment.recoveryCodes.join("\n")} what="recovery codes" /></div>
        </div>
      </div>
      <form onSubmit={submit.run}>
        <TextField label="3. A code of the app" {...bind(code)} error={submit.error("code")} hint="Six digits. Only then the second factor is on." autoComplete="one-time-code" inputMode="numeric" required mono />
        <FormEnd submit={submit} text="Switch it on" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
