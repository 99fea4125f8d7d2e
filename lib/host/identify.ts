// identify: who made a request of the host's own, by the credentials of this service (contract 10).
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RecordValue } from "../core/record.js";
import type { Tenant } from "../core/tenant.js";
import { BadRequest, CredentialRejected, ServiceError, Unauthorized } from "../core/errors.js";
import type { Logger } from "../core/logger.js";
import { errorReply } from "../http/errors.js";
import { HttpFacts } from "../http/facts.js";
import { sendReply } from "../http/reply.js";
import type { Calls } from "../http/call.js";
import { readQuery } from "../http/query.js";
import type { TenantRegistry } from "../tenants/context.js";

export interface Identified {
  readonly type: "guest" | "user" | "apiKey" | "superadmin";
  /** The credential's tenant; of a guest or the superadmin the one that the request names, or null. */
  readonly tenant: Tenant | null;
  /** The user's record, of a key that of the user it is bound to. */
  readonly user: RecordValue | null;
  readonly key: { readonly id: string; readonly name: string } | null;
}

declare global {
  // Express has its types extended by merging with this namespace.
  namespace Express {
    interface Request {
      /** Who asks, behind `requireUser()` of records-service. */
      records?: Identified;
    }
  }
}

export interface IdentifyDeps {
  readonly calls: Calls;
  readonly registry: TenantRegistry;
  readonly ready: () => Promise<void>;
  readonly logger: Logger;
}

/** Express middleware: lets users and keys through with `req.records` set, answers 401 to everybody else. */
export type RequireUser = (req: IncomingMessage & { records?: Identified }, res: ServerResponse, next: (error?: unknown) => void) => void;

export interface Identify {
  /** Throws Unauthorized where a credential is present but invalid. */
  identify(req: IncomingMessage): Promise<Identified>;
  requireUser(): RequireUser;
}

export function createIdentify({ calls, registry, ready, logger }: IdentifyDeps): Identify {
  async function identify(req: IncomingMessage): Promise<Identified> {
    if (typeof (req as Partial<IncomingMessage> | null | undefined)?.headers !== "object") throw new BadRequest("identify(...) takes the request itself");
    await ready();
    const trace = { caller: null, tenantId: null, rejection: null, rejectedKey: null, hookMs: 0 };
    const identity = await calls.identify(req, trace);
    const caller = identity?.caller;
    if (caller?.type === "user" || caller?.type === "apiKey") {
      return {
        type: caller.type,
        tenant: identity!.context?.tenant ?? null,
        user: caller.user,
        key: caller.type === "apiKey" ? { id: caller.keyId, name: caller.keyName } : null,
      };
    }
    const slug = await calls.hint(req, readQuery(req.url ?? ""));
    const named = slug === undefined ? undefined : await registry.bySlug(slug);
    return { type: caller?.type === "superadmin" ? "superadmin" : "guest", tenant: named?.tenant ?? null, user: null, key: null };
  }

  return {
    identify,
    requireUser: () => (req, res, next) => {
      identify(req).then(
        (identified) => {
          if (identified.user === null) return refuse(req, res, new Unauthorized());
          req.records = identified;
          next();
        },
        (error: unknown) => (error instanceof CredentialRejected || error instanceof ServiceError ? refuse(req, res, error) : next(error)),
      );
    },
  };

  function refuse(req: IncomingMessage, res: ServerResponse, error: ServiceError): void {
    const { requestId } = new HttpFacts(req);
    sendReply(res, errorReply(error, logger, requestId), requestId);
  }
}
