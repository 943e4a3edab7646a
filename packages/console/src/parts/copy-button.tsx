/** A button that copies a text, and says that it did. */
import { useCopying } from './copying.ts';

export const CopyButton = ({ text }: { readonly text: string }) => {
  const { isCopied, copy } = useCopying(text);
  return (
    <button type="button" class="main" onClick={copy}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  );
};
