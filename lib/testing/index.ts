// Conformance suites for authors of providers: to be run under mocha, or any runner with `describe` and `it`.
export { blobStoreSuite } from "./blobs.js";
export { exampleRecords, filterExamples } from "./filter-examples.js";
export { hasherSuite } from "./hasher.js";
export { mailerSuite, type MailerSuiteOptions, type MailerUnderTest } from "./mailer.js";
export { storageCases, storageSuite, type StorageCase, type StorageSuiteOptions, type StorageUnderTest } from "./storage.js";
