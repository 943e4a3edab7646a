/** A secret that is shown only once. A card rather than a dialog, so that a stray click can't close it. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Card } from './card.tsx';
import { CopyButton } from './copy-button.tsx';

interface SecretCardProps {
  readonly title: string;
  readonly secret: string;
  /** The label of the button that closes the card. */
  readonly done: string;
  readonly close: () => void;
  /** Explains what to do with the secret. */
  readonly children: ComponentChildren;
}

export const SecretCard = ({ title, secret, done, close, children }: SecretCardProps) => {
  const container = useRef<HTMLDivElement>(null);
  // A layout effect: a passive effect runs later, and could steal focus back after a key press has moved it.
  useLayoutEffect(() => container.current?.focus(), [secret]);
  const tools = (
    <button type="button" onClick={close}>
      {done}
    </button>
  );
  return (
    <Card title={title} class="new-token" tools={tools}>
      <div ref={container} tabIndex={-1}>
        {children}
        <div class="tag">
          <pre>
            <code>{secret}</code>
          </pre>
          <CopyButton text={secret} />
        </div>
      </div>
    </Card>
  );
};
