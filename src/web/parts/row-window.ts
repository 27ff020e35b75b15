export interface View {
  /** Rows in the whole table. */
  readonly rows: number;
  /** Row height (px). */
  readonly rowHeight: number;
  /** The visible part's position (px). */
  readonly top: number;
  /** The visible part's height (px). */
  readonly height: number;
}

/** Rows to render; `above` and `below` are the omitted rows' heights (px). */
export interface RowWindow {
  readonly first: number;
  /** First row after the window. */
  readonly end: number;
  readonly above: number;
  readonly below: number;
}

/** Rows beyond each edge: Tab reaches the next row before the frame scrolls. */
const margin = 3;

/** Returns the rows in the visible part, with a margin. */
export function rowWindow({ rows, rowHeight, top, height }: View): RowWindow {
  const most = Math.ceil(height / rowHeight) + 2 * margin;
  const last = Math.max(0, rows - most);
  const first = Math.min(Math.max(0, Math.floor(top / rowHeight) - margin), last);
  const end = Math.min(rows, first + most);
  return { first, end, above: first * rowHeight, below: (rows - end) * rowHeight };
}
