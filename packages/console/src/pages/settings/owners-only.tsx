/** Shown to viewers and editors in place of data that only an owner may read. */
import { Card } from '../../parts/card.tsx';
import { Empty } from '../../parts/small.tsx';

export const OwnersOnly = ({ title, what }: { readonly title: string; readonly what: string }) => (
  <Card title={title}>
    <Empty title={`Only an owner can read ${what}`}>
      <p class="soft">Ask an owner for another role, or sign in with a server token or with a one-time link.</p>
    </Empty>
  </Card>
);
