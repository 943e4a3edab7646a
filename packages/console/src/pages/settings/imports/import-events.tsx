/** The card that imports an events file. */
import { useState } from 'preact/hooks';
import { messageOf } from '../../../api.ts';
import { Card } from '../../../parts/card.tsx';
import { download } from '../../../parts/csv.ts';
import { show } from '../../../parts/notices.tsx';
import { Problem } from '../../../parts/small.tsx';
import { formatWhole } from '../../../reading/format.ts';
import {
  cancelEventImport,
  type EventImport,
  eventImport,
  isRunning,
  maxRefusals,
  startEventImport,
} from './event-import.ts';
import { readRefusedRows } from './refused-rows.ts';

const toMB = (bytes: number): string => (bytes / 1_000_000).toLocaleString(undefined, { maximumFractionDigits: 1 });

const Progress = ({ run: { file, tool, state, bytes, isDryRun } }: { readonly run: EventImport }) => {
  const activity = {
    checking: 'Reading the file',
    importing: isDryRun ? 'Checking' : 'Importing',
    waiting: 'Waiting for the server',
  }[state as 'checking'];
  return (
    <>
      <p>
        <progress max={file.size} value={bytes} aria-label="Read" />{' '}
        <span class="soft">
          {toMB(bytes)} of {toMB(file.size)} MB
        </span>
      </p>
      <p role="status">
        {tool && `${tool}: `}
        {activity}…
      </p>
    </>
  );
};

const outcomeOf = ({ file: { name }, state, isDryRun, importID, problem }: EventImport): string => {
  if (state === 'repeated') return `${name} was imported before. Nothing has changed.`;
  if (state === 'done') return isDryRun ? `This would be the result of importing ${name}.` : `Imported ${name}.`;
  const advice = importID === undefined ? 'Nothing was imported.' : 'To continue, choose the file again.';
  return problem ? advice : `Stopped. ${advice}`;
};

const Counts = ({ run: { counts, invalid, isDryRun } }: { readonly run: EventImport }) => {
  const { imported, repeated, refused, skipped } = counts;
  const reasons = Object.entries(skipped).map(([reason, rows]) => `${formatWhole(rows)} (${reason})`);
  return (
    <p>
      Imported: {formatWhole(imported)},{/** A dry run does not detect duplicates. */}
      {!isDryRun && ` repeated: ${formatWhole(repeated)},`} refused: {formatWhole(refused)}
      {invalid > 0 && `, invalid rows: ${formatWhole(invalid)}`}.
      {reasons.length > 0 && ` Left out: ${reasons.join(', ')}.`}
    </p>
  );
};

const maxShown = 5;

const RefusedRows = ({ run: { file, refusals } }: { readonly run: EventImport }) => {
  const [isReading, setReading] = useState(false);
  const save = async () => {
    setReading(true);
    try {
      download(`refused ${file.name.replace(/(\.\w+)+$/, '')}.jsonl`, await readRefusedRows(file, refusals));
    } catch (error) {
      show({ text: messageOf(error), isProblem: true });
    }
    setReading(false);
  };
  return (
    <>
      <ul class="refused-rows">
        {refusals.slice(0, maxShown).map(({ line, reason }, index) => (
          <li key={index}>
            Line {formatWhole(line)}: {reason}
          </li>
        ))}
      </ul>
      <p>
        <button type="button" disabled={isReading} onClick={save}>
          {refusals.length < maxRefusals ? 'Save refused rows' : `Save the first ${formatWhole(maxRefusals)}`}
        </button>
      </p>
    </>
  );
};

const Result = ({ run }: { readonly run: EventImport }) => (
  <>
    {run.problem && <Problem text={run.problem} />}
    <p role="status">{outcomeOf(run)}</p>
  </>
);

export const ImportEvents = () => {
  const [file, setFile] = useState<File>();
  const current = eventImport.value;
  const isBusy = isRunning.value;
  const start = (isDryRun: boolean) => file && startEventImport(file, isDryRun);
  return (
    <Card title="Import events">
      <div class="stacked">
        <p class="soft">
          A file from Segment, RudderStack, PostHog, Google Analytics 4 (BigQuery), Umami, Matomo or GoatCounter,
          optionally compressed with gzip: <a href="../docs/import-formats">Which files</a>. Parquet files need the
          command <code>firsthand import</code>. Plausible exports only daily totals, so it has no events to import.
        </p>
        <p class="import-file">
          <input
            type="file"
            disabled={isBusy}
            aria-label="Events file"
            onChange={({ currentTarget }) => setFile(currentTarget.files?.[0])}
          />
          {isBusy ? (
            <button type="button" onClick={cancelEventImport}>
              Cancel
            </button>
          ) : (
            <span>
              <button type="button" disabled={!file} onClick={() => start(true)}>
                Check
              </button>{' '}
              <button type="button" class="main" disabled={!file} onClick={() => start(false)}>
                Import
              </button>
            </span>
          )}
        </p>
        {current && (isBusy ? <Progress run={current} /> : <Result run={current} />)}
        {current && current.state !== 'repeated' && <Counts run={current} />}
        {current && current.refusals.length > 0 && <RefusedRows run={current} />}
      </div>
    </Card>
  );
};
