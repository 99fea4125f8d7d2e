// Who may import whom (docs/architecture.md). Held by `npm run structure`, in every CI run.
const features = "tenants|collections|records|users|auth|api-keys|files|hooks|realtime|admin|logs|backup|transfer|explain|stats";
const composition = "^lib/(service|providers|index|start|secrets|log)\\.(ts|cts)$";

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } } },
    { name: "core-imports-nothing", severity: "error", from: { path: "^lib/core/" }, to: { path: "^lib/(?!core/)" } },
    { name: "schema-and-rules-are-pure", severity: "error", from: { path: "^lib/(schema|rules)/" }, to: { path: `^lib/(${features}|http|host)/`, dependencyTypesNot: ["type-only"] } },
    { name: "nothing-below-http-knows-express", severity: "error", from: { path: "^lib/(?!http/|service\\.ts|client/|command-line/)" }, to: { path: "node_modules/(express|router|multer)/", dependencyTypesNot: ["type-only"] } },
    {
      name: "features-know-each-other-by-type", severity: "error",
      // `collections/collection.ts` names the tables of collections, which is vocabulary.
      from: { path: `^lib/(${features})/` },
      to: { path: `^lib/(${features})/`, pathNot: "^lib/$1/|^lib/collections/collection\\.ts$", dependencyTypesNot: ["type-only"] },
    },
    { name: "features-do-not-import-http", severity: "error", from: { path: `^lib/(${features}|core|storage|blobs|mailer|hasher|schema|rules)/` }, to: { path: "^lib/(http|host)/" } },
    { name: "implementations-only-by-the-composition", severity: "error", from: { path: "^lib/", pathNot: `${composition}|^lib/(storage|blobs|testing|command-line)/` }, to: { path: "^lib/storage/(sqlite|mongodb)/|^lib/blobs/(disk|gridfs|s3)\\.ts|^lib/mailer/smtp\\.ts|^lib/hasher/argon2\\.ts" } },
    { name: "client-stands-alone", severity: "error", from: { path: "^lib/client/" }, to: { path: "^lib/(?!client/)|node_modules" } },
    { name: "internals-never-import-the-entry", severity: "error", from: { path: "^lib/(?!index|command-line/)" }, to: { path: "^lib/index\\.ts" } },
    ...[
      ["sharp", "^lib/files/scale-image\\.ts$"], ["got", "^lib/hooks/deliver\\.ts$"], ["jsonwebtoken", "^lib/auth/tokens\\.ts$"], ["nodemailer", "^lib/mailer/smtp\\.ts$"],
      ["multer", "^lib/http/multipart\\.ts$"], ["re2js", "^lib/schema/patterns\\.ts$"], ["pino", "^lib/log\\.ts$"], ["file-type", "^lib/files/sniff\\.ts$"], ["otpauth", "^lib/admin/totp\\.ts$"],
    ].map(([name, file]) => ({ name: `one-importer-of-${name}`, severity: "error", from: { path: "^lib/", pathNot: file }, to: { path: `node_modules/${name}/`, dependencyTypesNot: ["type-only"] } })),
  ],
  options: { tsPreCompilationDeps: true, tsConfig: { fileName: "tsconfig.json" }, exclude: { path: "^lib/admin-ui/" }, enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types"], extensions: [".ts", ".js", ".cts"] } },
};
