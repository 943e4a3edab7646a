/**
 * Renders the content of a mail as text and as HTML. The HTML has inline styles only, loads nothing, and takes its
 * colors from the mail program, so that it is readable on light and dark backgrounds.
 */
import { escapeHTML } from '../built-pages.ts';

/** A number with a bar. */
export interface Row {
  readonly label: string;
  readonly value: number;
  /** The value as text; default: the number. */
  readonly text?: string;
}

export interface Section {
  readonly title: string;
  /** Key figures, such as `People`, `1,204`, `+12 %`. */
  readonly figures?: readonly { readonly label: string; readonly value: string; readonly change: string }[];
  readonly rows: readonly Row[];
  /** A remark below the rows. */
  readonly note?: string;
}

export interface Content {
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly sections: readonly Section[];
  readonly button?: { readonly label: string; readonly url: string };
  /** Links below the content, such as the one that unsubscribes. */
  readonly footer: readonly { readonly text: string; readonly url?: string }[];
}

export const toNumberText = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 });

const textOf = ({ value, text = toNumberText(value) }: Row): string => text;

const renderRowsAsText = (rows: readonly Row[]): string[] => {
  const width = Math.max(0, ...rows.map((row) => textOf(row).length));
  return rows.map((row) => `  ${textOf(row).padStart(width)}  ${row.label}`);
};

export const renderText = ({ title, paragraphs, sections, button, footer }: Content): string => {
  const bodies = sections.map(({ title: heading, figures = [], rows, note }) =>
    [
      heading,
      '-'.repeat(Math.min(heading.length, 60)),
      ...figures.map(({ label, value, change }) => `${label}: ${value}${change && ` (${change})`}`),
      ...renderRowsAsText(rows),
      ...(note === undefined ? [] : [note]),
    ].join('\n'),
  );
  const links = footer.map(({ text, url }) => (url === undefined ? text : `${text}: ${url}`));
  return [
    title,
    ...paragraphs,
    ...bodies,
    ...(button ? [`${button.label}: ${button.url}`] : []),
    `-- \n${links.join('\n')}`,
  ].join('\n\n');
};

const muted = 'opacity:0.72';
const cell = 'padding:3px 0;vertical-align:top';
const green = '#2f9e77';

const renderRows = (rows: readonly Row[]): string => {
  const max = Math.max(1, ...rows.map(({ value }) => value));
  const lines = rows.map((row) => {
    const percent = Math.round((Math.max(row.value, 0) / max) * 1_000) / 10;
    // An empty bar keeps the height of the row.
    const bar = `<div style="height:6px;width:${percent}%;margin:3px 0 5px;border-radius:3px;background:${green}"></div>`;
    return `<tr><td style="${cell};padding-right:16px;overflow-wrap:anywhere">${escapeHTML(row.label)}${bar}</td><td style="${cell};text-align:right;white-space:nowrap;width:1%">${escapeHTML(textOf(row))}</td></tr>`;
  });
  const table = 'width:100%;border-collapse:collapse;font-size:15px;line-height:1.35';
  return lines.length === 0 ? '' : `<table role="presentation" style="${table}">${lines.join('')}</table>`;
};

const renderFigures = (figures: NonNullable<Section['figures']>): string =>
  figures
    .map(
      ({ label, value, change }) =>
        `<span style="display:inline-block;margin:0 28px 12px 0"><span style="font-size:13px;${muted}">${escapeHTML(label)}</span><br><strong style="font-size:24px;line-height:1.2">${escapeHTML(value)}</strong>${change && ` <span style="font-size:14px;${muted}">${escapeHTML(change)}</span>`}</span>`,
    )
    .join('');

const renderSection = ({ title, figures, rows, note }: Section): string =>
  [
    `<h2 style="margin:28px 0 8px;font-size:17px;line-height:1.3;overflow-wrap:anywhere">${escapeHTML(title)}</h2>`,
    figures ? `<div>${renderFigures(figures)}</div>` : '',
    renderRows(rows),
    note === undefined ? '' : `<p style="margin:4px 0 0;font-size:14px;${muted}">${escapeHTML(note)}</p>`,
  ].join('');

const renderLink = (text: string, url: string, style: string): string =>
  `<a href="${escapeHTML(url)}" style="${style}">${escapeHTML(text)}</a>`;

export const renderHTML = ({ title, paragraphs, sections, button, footer }: Content): string => {
  const links = footer.map(({ text, url }) =>
    url === undefined ? escapeHTML(text) : renderLink(text, url, 'color:inherit'),
  );
  const buttonStyle = `display:inline-block;margin-top:28px;padding:10px 18px;border-radius:8px;background:#1c7a59;color:#ffffff;text-decoration:none;font-weight:600`;
  return `<!doctype html>
<html lang="en" style="color-scheme:light dark">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHTML(title)}</title>
</head>
<body style="margin:0;padding:24px 16px">
<div style="max-width:560px;margin:0 auto;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<h1 style="margin:0 0 8px;font-size:22px;line-height:1.25;overflow-wrap:anywhere">${escapeHTML(title)}</h1>
${paragraphs.map((text) => `<p style="margin:0 0 8px">${escapeHTML(text)}</p>`).join('\n')}
${sections.map(renderSection).join('\n')}
${button ? renderLink(button.label, button.url, buttonStyle) : ''}
<p style="margin:32px 0 0;padding-top:12px;border-top:1px solid ${green};font-size:13px;${muted}">${links.join(' · ')}</p>
</div>
</body>
</html>
`;
};
