declare module "*.svg" {
  const url: string;
  // eslint-disable-next-line import/no-default-export -- vite gives an asset's address as the default export.
  export default url;
}
