// Public exports of records-service/client, nothing else.
export { createClient, type BatchRequest, type BatchResult, type Client, type ClientOptions } from "./client.js";
export { ConnectionError, RecordsError, type FieldError } from "./errors.js";
export type { Auth } from "./auth.js";
export type { Body, Change, Collection, Fields, ListOptions, Page, Stored, WriteOptions } from "./collection.js";
export type { FileOptions, FileReference, Files } from "./files.js";
export type { Live, LiveOptions, LiveState } from "./live.js";
export type { Subscription, SubscriptionOptions } from "./subscribers.js";
export type { SessionStorage, TokenPair } from "./session.js";
export type { RequestOptions } from "./transport.js";
