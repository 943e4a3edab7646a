/** The pages beside the guides. */

/** Files beside the guides that a user of the service reads: their page, and its name in the navigation. */
export const manuals: Readonly<Record<string, { readonly path: string; readonly label: string }>> = {
  'README.md': { path: 'service', label: 'The service' },
  'packages/tracker/README.md': { path: 'tracker', label: 'The tracker' },
  'packages/client/README.md': { path: 'client', label: 'The client' },
  'packages/server/deploy/README.md': { path: 'deploy', label: 'Running it for good' },
  'packages/server/CHANGELOG.md': { path: 'changes', label: 'Changes' },
};
