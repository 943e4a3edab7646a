/**
 * The addresses from which a page may load the script, the best first. Below a base path, the web servers of the sites pass that path on:
 * only a path of the site itself lets Safari keep the cookie for 400 days. `root` is where the console reaches the service.
 */
export const scriptAddresses = (root: string, origins: readonly string[]): string[] => {
  const base = new URL(root).pathname.replace(/\/$/, '');
  // `https://*.shop.example` names no single site.
  const ofSites = base === '' ? [] : origins.filter((origin) => !origin.includes('*')).map((origin) => origin + base);
  return [...new Set([...ofSites, root])];
};
