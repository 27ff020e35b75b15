import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Wording } from '../../api/texts/text.ts';
import { say } from '../words/language.ts';
import { rowWindow } from './row-window.ts';

export interface Column<Row> {
  readonly title: Wording;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
}

interface TableProps<Row> {
  /** Name of the table for screen readers. */
  readonly label: string;
  /** The first column holds the row headers. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Sentence in place of an empty table. */
  readonly empty: Wording;
}

/** A table; wide tables scroll inside their frame. */
export function Table<Row>(props: TableProps<Row>) {
  if (props.rows.length === 0) return <p class="empty">{say(props.empty)}</p>;
  return (
    <Frame label={props.label}>
      <table>
        <Head columns={props.columns} />
        <tbody>
          {props.rows.map((row) => (
            <tr key={props.keyOf(row)}>
              <Cells columns={props.columns} row={row} />
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

/** Height of a row in a long table (px), as in the stylesheet. */
const rowHeight = 36;
/** Visible part before the first measurement (px). */
const usualHeight = 600;

/** A table with equal row heights: only the rows in sight exist. */
export function LongTable<Row>(props: TableProps<Row>) {
  const frame = useRef<HTMLElement>(null);
  const [view, setView] = useState({ top: 0, height: usualHeight });
  useEffect(() => {
    const measure = () => {
      const { scrollTop = 0, clientHeight = usualHeight } = frame.current ?? {};
      setView({ top: scrollTop, height: clientHeight });
    };
    const observer = new ResizeObserver(measure);
    if (frame.current) observer.observe(frame.current);
    frame.current?.addEventListener('scroll', measure, { passive: true });
    return () => observer.disconnect();
  }, [props.rows.length === 0]);
  if (props.rows.length === 0) return <p class="empty">{say(props.empty)}</p>;
  const { first, end, above, below } = rowWindow({ rows: props.rows.length, rowHeight, ...view });
  return (
    <Frame label={props.label} isLong frame={frame}>
      <table aria-rowcount={props.rows.length + 1}>
        <Head columns={props.columns} />
        <tbody>
          <Gap height={above} />
          {props.rows.slice(first, end).map((row, at) => (
            <tr key={props.keyOf(row)} aria-rowindex={first + at + 2}>
              <Cells columns={props.columns} row={row} />
            </tr>
          ))}
          <Gap height={below} />
        </tbody>
      </table>
    </Frame>
  );
}

/** Keyboard users scroll a focused frame. */
function Frame({
  label,
  isLong = false,
  frame,
  children,
}: {
  readonly label: string;
  readonly isLong?: boolean;
  readonly frame?: RefObject<HTMLElement | null>;
  readonly children: ComponentChildren;
}) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard (WCAG 2.1.1)
    <section
      class={isLong ? 'frame long' : 'frame'}
      aria-label={label}
      tabIndex={0}
      ref={frame ?? null}
    >
      {children}
    </section>
  );
}

function Head<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ title, isNumber }) => (
          <th key={title.en} scope="col" class={isNumber ? 'number' : undefined}>
            {say(title)}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Cells<Row>({
  columns: [first, ...others],
  row,
}: {
  readonly columns: readonly Column<Row>[];
  readonly row: Row;
}) {
  return (
    <>
      {first && <th scope="row">{first.cell(row)}</th>}
      {others.map(({ title, cell, isNumber }) => (
        <td key={title.en} class={isNumber ? 'number' : undefined}>
          {cell(row)}
        </td>
      ))}
    </>
  );
}

/** Space for unrendered rows. */
function Gap({ height }: { readonly height: number }) {
  if (height === 0) return null;
  return <tr aria-hidden="true" class="gap" style={{ height: `${height}px` }} />;
}
