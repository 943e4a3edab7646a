/** Loads a part of the import of files when it is shown. If that fails, the page shows the error. */
import type { ComponentProps, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type Parts = typeof import('./import-files.ts');

export const ImportFiles = <Name extends keyof Parts>({
  part,
  ...props
}: { readonly part: Name } & ComponentProps<Parts[Name]>) => {
  const [Part, setPart] = useState<ComponentType>();
  useEffect(() => {
    import('./import-files.ts').then(
      (parts) => setPart(() => parts[part] as ComponentType),
      (error) =>
        setPart(() => () => {
          throw error;
        }),
    );
  }, []);
  return Part && <Part {...props} />;
};
