/** A button that copies text and confirms that it did. */
import { useCopy } from './use-copy.ts';

export const CopyButton = ({ text }: { readonly text: string }) => {
  const { isCopied, copy } = useCopy(text);
  return (
    <button type="button" class="main" onClick={copy}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  );
};
