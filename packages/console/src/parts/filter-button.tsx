/** Opens the filter builder for the page's filter or a segment's filter. The builder is loaded on the first click. */
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { conditions, type EditedSegment } from '../reading/filter.ts';

type FilterDialog = ComponentType<{ readonly segment?: EditedSegment | undefined; readonly close: () => void }>;

export const FilterButton = ({ segment }: { readonly segment?: EditedSegment }) => {
  const [dialog, setDialog] = useState<{ readonly Dialog: FilterDialog } | undefined>(undefined);
  const open = async () => {
    const { FilterDialog } = await import('./filter-builder/filter-dialog.tsx');
    setDialog({ Dialog: FilterDialog });
  };
  const count = conditions.value.length;
  return (
    <>
      <button type="button" class={segment && 'quiet'} aria-label={segment && `Edit ${segment.name}`} onClick={open}>
        {segment ? 'Edit' : count === 0 ? 'Filter' : `Filter · ${count}`}
      </button>
      {dialog && <dialog.Dialog segment={segment} close={() => setDialog(undefined)} />}
    </>
  );
};
