/** Shown to a session of a viewer token in place of data that only a server token may read. */
import { Card } from '../../parts/card.tsx';
import { Empty } from '../../parts/small.tsx';

export const ServerTokenNeeded = ({ title, what }: { readonly title: string; readonly what: string }) => (
  <Card title={title}>
    <Empty title={`Only a server token can read ${what}`}>
      <p class="soft">Sign out, and sign in again with a server token or with the link that the server prints.</p>
    </Empty>
  </Card>
);
