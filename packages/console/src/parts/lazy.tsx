/** Loads a component when it is shown. If that fails, the page shows the error. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type LazyProps<Props> = Props & {
  /** Called once. */
  readonly load: () => Promise<ComponentType<Props>>;
};

export const Lazy = <Props extends object>({ load, ...props }: LazyProps<Props>) => {
  const [Loaded, setLoaded] = useState<ComponentType<Props>>();
  useEffect(() => {
    load().then(
      (component) => setLoaded(() => component),
      (error) =>
        setLoaded(() => () => {
          throw error;
        }),
    );
  }, []);
  return Loaded && <Loaded {...(props as unknown as Props)} />;
};
