// Public exports, nothing else.
export { createRecordsService, type RecordsService } from "./service.js";
export { listen, type ListenAddress, type Listening } from "./standalone/listen.js";
export { readEnvironment, type Environment, type ServerSettings } from "./standalone/environment.js";
export { serve, type StandaloneServer } from "./standalone/serve.js";
export { OptionsError, type RecordsServiceOptions, type Secrets, type SmtpOptions } from "./options.js";
export * from "./core/errors.js";
export { verifyHookSignature } from "./hooks/signature.js";
export type { HookEvent } from "./hooks/definition.js";
export type { HookHandler, HookScope } from "./hooks/handlers.js";
export type { Envelope } from "./hooks/hooks.js";
export type { HookInput } from "./hooks/check.js";
export type { HookManagement, TestResult } from "./hooks/manage.js";
export type { HookView } from "./hooks/stored.js";
export type { Who } from "./host/call.js";
export type { ChangeEvent, CollectionHandle, DataHandle, Fields, FilesHandle, Page, Stored, SubscribeOptions } from "./host/data-handle.js";
export type { Identified } from "./host/identify.js";
export type { TenantHandle } from "./host/tenant-handle.js";
export { BatchFailed, type BatchRequest, type BatchResult } from "./records/batch.js";
export type { ListParameters } from "./records/list-query.js";
export type { CollectionDefinition, Field, Index } from "./schema/collection.js";
export type { Clock } from "./core/clock.js";
export type { Logger } from "./core/logger.js";
export type { FileReference, Json, JsonObject, RecordValue, Scalar } from "./core/record.js";
export type { Settings, Tenant } from "./core/tenant.js";

// Providers: contracts, and the built-in ones to be wrapped or extended
export type { BlobStore } from "./blobs/blobs.js";
export { createDiskBlobs } from "./blobs/disk.js";
export type { PasswordHasher } from "./hasher/hasher.js";
export { createArgon2Hasher } from "./hasher/argon2.js";
export type { Mail, Mailer } from "./mailer/mailer.js";
export { createSmtpMailer } from "./mailer/smtp.js";
export * from "./storage/storage.js";
export type { FieldOperand, Filter, Operand, ValueKind, ValueOperand } from "./storage/filter.js";
export { matcher, matches } from "./storage/matches.js";
export { createSqliteStorage } from "./storage/sqlite/sqlite.js";
