// The blocking chain: webhooks and handlers in process, one after the other by priority; bodies accumulate, the first refusal stops.
import { bypassesHooks } from "../core/call.js";
import { timestamp, type Clock } from "../core/clock.js";
import { HookFailed, HookRejected } from "../core/errors.js";
import { newId } from "../core/ids.js";
import { describeError, type Logger } from "../core/logger.js";
import type { Json, JsonObject } from "../core/record.js";
import { readAnswer, readValue, type Answer } from "./answer.js";
import { within } from "./deadline.js";
import type { HookDefinition } from "./definition.js";
import type { Dispatch } from "./dispatch.js";
import { createEnvelope, mergeReplacement, type Occasion } from "./envelope.js";
import type { Handlers, Registration } from "./handlers.js";
import type { ChainOutcome, HookSubject } from "./hooks.js";
import type { HookLog, HookOutcome } from "./log-entry.js";

export interface ChainDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly log: HookLog;
  readonly dispatch: Dispatch;
  readonly handlers: Handlers;
  /** Fires when the service gives up what is under way. */
  readonly signal: AbortSignal;
}

/** Milliseconds for a handler in process: the most that a webhook may take. */
export const handlerTimeout = 30_000;

const nothing: ChainOutcome = Object.freeze({ body: null });

type Step = { readonly hook: HookDefinition } | { readonly registration: Registration };

interface Asked {
  readonly answer: Answer;
  readonly status: number | null;
  readonly durationMs: number;
}

export type Chain = (occasion: Occasion, webhooks: readonly HookDefinition[]) => Promise<ChainOutcome>;

/** Runs the chain of one occasion over these webhooks and the handlers that match. Throws HookRejected or HookFailed. */
export function createChain(deps: ChainDeps): Chain {
  return (occasion, webhooks) => {
    const { context, call, event, subject } = occasion;
    const registrations = deps.handlers.matching(event, context.tenant.slug, subject.collection);
    if ((webhooks.length === 0 && registrations.length === 0) || bypassesHooks(call.caller)) {
      return Promise.resolve(subject.body === null ? nothing : { body: subject.body });
    }
    return runChain(deps, occasion, inOrder(webhooks, registrations));
  };
}

async function runChain(deps: ChainDeps, occasion: Occasion, steps: readonly Step[]): Promise<ChainOutcome> {
  const { call, event } = occasion;
  let subject: HookSubject = occasion.subject;
  for (const step of steps) {
    const deliveryId = newId(deps.clock.now());
    const startedAt = timestamp(deps.clock);
    const asked = await ("hook" in step ? askWebhook(deps, { ...occasion, subject }, step.hook, deliveryId, startedAt) : askHandler(deps, { ...occasion, subject }, step.registration, deliveryId, startedAt));
    call.meter.hookMs += asked.durationMs;
    const { answer } = asked;
    const hookId = "hook" in step ? step.hook.id : null;
    const failsOpen = "hook" in step && step.hook.failOpen && (answer.type === "unusable" || (asked.status !== null && (asked.status < 200 || asked.status > 299)));
    deps.log.write(occasion.context.tenant.id, {
      hookId, event,
      collection: subject.collection,
      recordId: subject.recordId,
      requestId: call.request.requestId,
      deliveryId,
      attempt: 1,
      startedAt,
      durationMs: asked.durationMs,
      status: asked.status,
      outcome: failsOpen ? "failedOpen" : outcomeOf(answer, subject),
    });
    const about = { tenantId: occasion.context.tenant.id, hookId, event, requestId: call.request.requestId };
    if (failsOpen) {
      deps.logger.warn({ ...about, status: asked.status }, "a hook failed and fails open: the operation goes on");
      continue;
    }
    switch (answer.type) {
      case "allowed":
        break;
      case "modified":
        // An operation without a body has nothing to replace.
        if (subject.body !== null) subject = { ...subject, body: mergeReplacement(subject, subject.body, answer.body) };
        break;
      case "issueTokenFor":
        return { body: subject.body, issueTokenFor: answer.userId };
      case "rejected":
        if (answer.warning !== null) deps.logger.warn(about, `the answer of a hook: ${answer.warning}`);
        throw new HookRejected(answer.status, answer.message, answer.body);
      case "unusable":
        deps.logger.warn({ ...about, status: asked.status, reason: answer.reason }, "a hook failed");
        throw new HookFailed(new Error(answer.reason));
    }
  }
  return { body: subject.body };
}

async function askWebhook(deps: ChainDeps, occasion: Occasion, hook: HookDefinition, deliveryId: string, at: string): Promise<Asked> {
  const result = await deps.dispatch({
    tenantId: occasion.context.tenant.id,
    hook, deliveryId,
    event: occasion.event,
    collection: occasion.subject.collection,
    text: JSON.stringify(createEnvelope(occasion, hook, deliveryId, at)),
    allowlist: occasion.context.settings.webhookAllowlist,
    readBody: true,
    signal: deps.signal,
  });
  const answer: Answer = result.type === "answer" ? readAnswer(result.status, result.body, occasion.event) : { type: "unusable", reason: `${result.reason}: ${result.detail}` };
  return { answer, status: result.status, durationMs: result.durationMs };
}

async function askHandler(deps: ChainDeps, occasion: Occasion, registration: Registration, deliveryId: string, at: string): Promise<Asked> {
  const started = performance.now();
  const asked = (answer: Answer): Asked => ({ answer, status: null, durationMs: Math.round((performance.now() - started) * 1000) / 1000 });
  try {
    const returned = await callHandler(registration, occasion, deliveryId, at);
    // Through JSON, as over the wire: dates become text, functions and undefined disappear.
    const value = returned === undefined ? null : (JSON.parse(JSON.stringify(returned) ?? "null") as Json);
    return asked(typeof value === "object" && value !== null && !Array.isArray(value) ? readValue(value as JsonObject, occasion.event) : { type: "allowed" });
  } catch (error) {
    const { name, message } = describeError(error);
    return asked({ type: "unusable", reason: `${name}: ${message}` });
  }
}

/** Calls a handler in process with an envelope of its own, within the longest time that a hook may take. */
export function callHandler(registration: Registration, occasion: Occasion, deliveryId: string, at: string): Promise<unknown> {
  const envelope = structuredClone(createEnvelope(occasion, null, deliveryId, at));
  return within(Promise.resolve().then(() => registration.handler(envelope)), handlerTimeout);
}

/** By priority; at equal priority handlers in process come first. */
function inOrder(webhooks: readonly HookDefinition[], registrations: readonly Registration[]): Step[] {
  const steps = [
    ...registrations.map((registration) => ({ step: { registration } as Step, priority: registration.priority, rank: 0 })),
    ...webhooks.map((hook) => ({ step: { hook } as Step, priority: hook.priority, rank: 1 })),
  ];
  return steps.sort((a, b) => a.priority - b.priority || a.rank - b.rank).map(({ step }) => step);
}

function outcomeOf(answer: Answer, subject: HookSubject): HookOutcome {
  switch (answer.type) {
    case "modified": return subject.body === null ? "allowed" : "modified";
    case "issueTokenFor": return "modified";
    case "rejected": return "rejected";
    case "unusable": return "failed";
    case "allowed": return "allowed";
  }
}
