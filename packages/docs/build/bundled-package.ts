/** The folder of the only third-party package in the page scripts. */
export const bundledPackage = new URL('../../', import.meta.resolve('minisearch'));
