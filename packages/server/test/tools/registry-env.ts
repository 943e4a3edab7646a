/** Environment variables that npm might need to reach its registry, such as those for a proxy. */
export const registryEnv: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(?:(?:https?|no|all)_proxy|npm_config_registry|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i.test(name),
  ) as [string, string][],
);
