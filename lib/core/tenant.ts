// A tenant and its settings (contract 2 and 7).

export interface Tenant {
  readonly id: string;
  /** Unique, `^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`. */
  readonly slug: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Settings {
  readonly selfRegistration: boolean;
  readonly passwordReset: { readonly enabled: boolean; readonly linkUrl: string };
  readonly emailVerification: {
    readonly enabled: boolean;
    readonly linkUrl: string;
    /** No effect unless `enabled`. */
    readonly requireForLogin: boolean;
  };
  /** Ids of the users that may call issue-token. */
  readonly tokenIssuers: readonly string[];
  /** Exact `host:port` entries that hooks may reach despite the address rules. */
  readonly webhookAllowlist: readonly string[];
  /** Run beforeRequest hooks on file routes too. */
  readonly guardFileRoutes: boolean;
}

export const defaultSettings: Settings = {
  selfRegistration: false,
  passwordReset: { enabled: false, linkUrl: "" },
  emailVerification: { enabled: false, linkUrl: "", requireForLogin: false },
  tokenIssuers: [],
  webhookAllowlist: [],
  guardFileRoutes: false,
};

export const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
