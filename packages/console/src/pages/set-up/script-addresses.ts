/**
 * The URLs from which pages can load the script, best first. Sites can forward a base path of the service to it: Safari
 * keeps the cookie for 400 days only if the script comes from the site itself.
 */
export const scriptAddresses = (root: string, origins: readonly string[]): string[] => {
  const base = new URL(root).pathname.replace(/\/$/, '');
  // A wildcard such as `https://*.shop.example` is not a URL.
  const ofSites = base === '' ? [] : origins.filter((origin) => !origin.includes('*')).map((origin) => origin + base);
  return [...new Set([...ofSites, root])];
};
