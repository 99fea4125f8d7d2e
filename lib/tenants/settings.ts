// A tenant's settings: read, and changed by merging nested objects and replacing lists (contract 7 and 11).
import joi from "joi";
import { timestamp, type Clock } from "../core/clock.js";
import { Conflict, ValidationFailed } from "../core/errors.js";
import type { Json } from "../core/record.js";
import type { Settings } from "../core/tenant.js";
import { demandInput } from "../schema/input.js";
import { ConditionMissed } from "../storage/storage.js";
import type { TenantContext } from "./context.js";
import { toSettings } from "./registry.js";

export interface SettingsDeps {
  readonly clock: Clock;
  /** The normalised `host:port` of an allowlist entry, or null where it is none. */
  readonly parseHostPort: (entry: string) => string | null;
}

export interface SettingsManagement {
  get(context: TenantContext): Promise<Settings>;
  /** Any part of the settings; answers the whole. Throws ValidationFailed. */
  update(context: TenantContext, input: unknown): Promise<Settings>;
}

const link = joi
  .string()
  .allow("", null)
  .max(2000)
  .custom((value: string, helpers) => {
    // `{token}` stands where the token goes; for the check any text will do there.
    const url = URL.canParse(value.replaceAll("{token}", "t")) ? new URL(value.replaceAll("{token}", "t")) : null;
    return value === "" || (url !== null && (url.protocol === "http:" || url.protocol === "https:"))
      ? value
      : helpers.message({ custom: "must be an http or https URL" });
  });

const schema = joi.object({
  selfRegistration: joi.boolean(),
  passwordReset: joi.object({ enabled: joi.boolean(), linkUrl: link }),
  emailVerification: joi.object({ enabled: joi.boolean(), linkUrl: link, requireForLogin: joi.boolean() }),
  tokenIssuers: joi.array().items(joi.string()).max(1000),
  webhookAllowlist: joi.array().items(joi.string().max(300)).max(1000),
  guardFileRoutes: joi.boolean(),
});

type SettingsInput = { -readonly [K in keyof Settings]?: Settings[K] extends readonly string[] ? string[] : Partial<Settings[K]> };

/** Times a change is merged anew because others changed the settings meanwhile. */
const rounds = 50;

export function createSettings({ clock, parseHostPort }: SettingsDeps): SettingsManagement {
  async function get({ store }: TenantContext): Promise<Settings> {
    return toSettings(await store.table("settings").find("settings"));
  }

  return {
    get,
    async update(context, input) {
      const wanted = demandInput<SettingsInput>(schema, input);
      const errors = badEntries(wanted.webhookAllowlist ?? [], parseHostPort);
      if (errors.length > 0) throw new ValidationFailed(errors);
      for (let round = 1; ; round += 1) {
        const row = await context.store.table("settings").find("settings");
        const next = merge(toSettings(row), wanted, parseHostPort);
        try {
          await context.store.write({
            bump: true,
            operations: [{
              type: "update", table: "settings", id: "settings", ...(row === undefined ? {} : { revision: row.revision }),
              set: { ...(next as unknown as Record<string, Json>), updatedAt: timestamp(clock) },
            }],
          });
          return next;
        } catch (error) {
          // Somebody else has changed other members meanwhile: those stay.
          if (!(error instanceof ConditionMissed) || row === undefined) throw error;
          if (round === rounds) throw new Conflict("The settings are changing all the time; try again");
        }
      }
    },
  };
}

function merge(current: Settings, wanted: SettingsInput, parseHostPort: SettingsDeps["parseHostPort"]): Settings {
  return {
    ...current,
    ...wanted,
    passwordReset: withoutNull({ ...current.passwordReset, ...wanted.passwordReset }),
    emailVerification: withoutNull({ ...current.emailVerification, ...wanted.emailVerification }),
    tokenIssuers: [...new Set(wanted.tokenIssuers ?? current.tokenIssuers)],
    webhookAllowlist: [...new Set((wanted.webhookAllowlist ?? current.webhookAllowlist).map((entry) => parseHostPort(entry) ?? entry))],
  } as Settings;
}

/** A link may be taken away with null as with the empty text; it is stored as the latter. */
function withoutNull<T extends { readonly linkUrl: string | null }>(part: T): T & { readonly linkUrl: string } {
  return { ...part, linkUrl: part.linkUrl ?? "" };
}

function badEntries(entries: readonly string[], parseHostPort: SettingsDeps["parseHostPort"]) {
  return entries.flatMap((entry, index) =>
    parseHostPort(entry) === null
      ? [{ field: `webhookAllowlist[${index}]`, message: "must be host:port, such as hooks.example.com:443 or [::1]:8080" }]
      : [],
  );
}
