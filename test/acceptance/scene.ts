// The scene of most acceptance tests: a server as a process with one tenant, an account in it, and a receiver of hooks
// that this tenant may call.
import { openReceiver, startBackend, type Account, type Backend, type Receiver, type Tenant } from "./backend.js";

export interface Scene {
  readonly backend: Backend;
  readonly receiver: Receiver;
  /** `acme` */
  readonly tenant: Tenant;
  /** Its account `ann`. */
  readonly ann: Account;
  end(): Promise<void>;
}

/** A collection with these members may be used by everybody. */
export const openToAll = { listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" } as const;

/** @param account members of the account beside its name and password */
export async function openScene(account: object = {}): Promise<Scene> {
  const receiver = await openReceiver();
  const backend = await startBackend();
  const tenant = await backend.tenant("acme");
  const ann = await tenant.account("ann", account);
  await tenant.settings({ webhookAllowlist: [receiver.host] });
  return {
    backend, receiver, tenant, ann,
    async end() {
      await backend.stop();
      await receiver.close();
    },
  };
}
