// Typed rules for the sources, lighter ones for tests and examples.
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/**", "lib/admin-ui/**", "examples/**/public/**", "**/*.js", "**/*.cjs", "**/*.cts"] },
  {
    files: ["lib/**/*.ts"],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: `${import.meta.dirname}/../..` } },
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }],
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "no-console": "error",
      "no-restricted-exports": ["error", { restrictDefaultExports: { direct: true } }],
      "no-restricted-properties": ["error", { object: "process", property: "env", message: "The environment is read by examples/standalone and the command line only." }],
      eqeqeq: "error",
    },
  },
  { files: ["lib/command-line/**/*.ts"], rules: { "no-console": "off", "no-restricted-properties": "off" } },
  {
    files: ["test/**/*.ts", "examples/**/*.ts"],
    extends: [tseslint.configs.base],
    rules: { "@typescript-eslint/consistent-type-imports": "error", "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }], eqeqeq: "error" },
  },
);
