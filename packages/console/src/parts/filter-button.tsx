/** Opens the filter builder, which is loaded then. */
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { conditions } from '../reading/filter.ts';

type FilterDialog = ComponentType<{ readonly close: () => void }>;

export const FilterButton = () => {
  const [dialog, setDialog] = useState<{ readonly Dialog: FilterDialog } | undefined>(undefined);
  const open = async () => {
    const { FilterDialog } = await import('./filter-builder/filter-dialog.tsx');
    setDialog({ Dialog: FilterDialog });
  };
  const count = conditions.value.length;
  return (
    <>
      <button type="button" onClick={open}>
        {count === 0 ? 'Filter' : `Filter · ${count}`}
      </button>
      {dialog && <dialog.Dialog close={() => setDialog(undefined)} />}
    </>
  );
};
