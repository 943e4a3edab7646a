/** The folder of the only package by others whose code is in the scripts of the pages. */
export const bundledPackage = new URL('../../', import.meta.resolve('minisearch'));
