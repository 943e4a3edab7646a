/** Shown to viewers and editors instead of data that only owners may read. */
import { Card } from '../../parts/card.tsx';
import { EmptyState } from '../../parts/small.tsx';

export const OwnersOnly = ({ title, subject }: { readonly title: string; readonly subject: string }) => (
  <Card title={title}>
    <EmptyState title={`Only owners can see ${subject}`}>
      <p class="soft">Ask an owner to change your role, or sign in with a server token or a one-time link.</p>
    </EmptyState>
  </Card>
);
