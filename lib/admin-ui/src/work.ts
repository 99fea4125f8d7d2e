// Every screen beyond the first, loaded as one: they share most of their code.
export { AccountScreen } from "./screens/account.js";
export { BackupScreen } from "./screens/backup.js";
export { CollectionScreen } from "./screens/collection.js";
export { CollectionsScreen } from "./screens/collections.js";
export { FiguresScreen } from "./screens/figures.js";
export { HooksScreen } from "./screens/hooks.js";
export { KeysScreen } from "./screens/keys.js";
export { LogScreen } from "./screens/log.js";
export { SettingsScreen } from "./screens/settings.js";
