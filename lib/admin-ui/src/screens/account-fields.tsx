// What only the superadmin sets on a user: role, state, verified address, password.
import type { Json, JsonObject, RecordBody } from "../api/types.js";
import { SwitchField, TextField } from "../kit/field.js";

/** The fields in the order in which they are shown. */
export const accountNames = ["role", "password", "active", "emailVerified"] as const;

export interface AccountDraft {
  readonly role: string;
  readonly active: boolean;
  readonly emailVerified: boolean;
  /** Empty: as it is. */
  readonly password: string;
}

export function accountOf(record: RecordBody | null): AccountDraft {
  return {
    role: typeof record?.["role"] === "string" ? record["role"] : "user",
    active: record?.["active"] !== false,
    emailVerified: record?.["emailVerified"] === true,
    password: "",
  };
}

/** The members that differ; all of them for a new account. */
export function toAccountBody(draft: AccountDraft, before: AccountDraft | null): JsonObject {
  const body: Record<string, Json> = {};
  for (const name of ["role", "active", "emailVerified"] as const) if (before === null || before[name] !== draft[name]) body[name] = draft[name];
  if (draft.password !== "" || before === null) body["password"] = draft.password;
  return body;
}

export function AccountFields(props: { readonly isNew: boolean; readonly value: AccountDraft; readonly onChange: (value: AccountDraft) => void; readonly errors: readonly (string | undefined)[] }) {
  const { value, onChange } = props;
  const [role, password, active, verified] = props.errors;
  return (
    <>
      <TextField label="role" value={value.role} onInput={(text) => onChange({ ...value, role: text })} error={role} hint="Rules read it as @auth.role. Only you can change it." />
      <TextField label="password" type="password" value={value.password} onInput={(text) => onChange({ ...value, password: text })} error={password} hint={props.isNew ? "At least 16 characters." : "Empty: the password stays. A new one ends the user's sessions."} autoComplete="new-password" required={props.isNew} />
      <SwitchField label="Active" checked={value.active} onChange={(on) => onChange({ ...value, active: on })} error={active} hint="An inactive user cannot sign in, as if there were no such account." />
      <SwitchField label="E-mail address is verified" checked={value.emailVerified} onChange={(emailVerified) => onChange({ ...value, emailVerified })} error={verified} />
    </>
  );
}
