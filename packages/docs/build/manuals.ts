/** Pages other than guides: the file, path and navigation label of each. */
export const manuals: Readonly<Record<string, { readonly path: string; readonly label: string }>> = {
  'packages/docs/manual/console.md': { path: 'console', label: 'The console' },
  'packages/docs/manual/operations.md': { path: 'operations', label: 'Operations by example' },
  'packages/docs/manual/promises.md': { path: 'promises', label: 'What a 200 promises' },
  'packages/docs/manual/tokens.md': { path: 'tokens', label: 'Tokens' },
  'packages/docs/manual/refused.md': { path: 'refused', label: 'Errors and limits' },
  'packages/docs/manual/settings.md': { path: 'settings', label: 'Settings and commands' },
  'packages/tracker/README.md': { path: 'tracker', label: 'The tracker' },
  'packages/client/README.md': { path: 'client', label: 'The client' },
  'packages/server/deploy/README.md': { path: 'deploy', label: 'Containers, units, proxies' },
  'packages/server/CHANGELOG.md': { path: 'changes', label: 'Changes' },
};
