import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { say } from '../words/language.ts';
import { screenTexts } from '../words/screen-texts.ts';
import { signOf } from '../words/signs.ts';
import { visible } from '../words/visible.ts';
import { type Box, type Line, type Pictured, pictureOf } from './picture-layout.ts';

/** A node's networks, NICs and Kubernetes Node. The table below says the same: screen readers skip the picture. */
export function NodePicture({ answer }: { readonly answer: ScreenAnswer<'node'> }) {
  const picture = pictureOf(answer, {
    openstack: say(screenTexts.openstack),
    kubernetes: say(screenTexts.kubernetes),
  });
  return (
    <div class="picture" aria-hidden="true">
      <svg
        viewBox={`0 0 ${picture.width} ${picture.height}`}
        width={picture.width}
        focusable="false"
      >
        {picture.lines.map((line) => (
          <path key={line.key} d={pathOf(line)} class={line.isBroken ? 'broken' : undefined} />
        ))}
        {picture.boxes.map((box) => (
          <PictureBox key={box.x} box={box} />
        ))}
      </svg>
    </div>
  );
}

function PictureBox({ box: { title, x, y, width, height, rows } }: { readonly box: Box }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect width={width} height={height} rx="6" />
      <text x="12" y="20" class="title">
        {shortened(title, width)}
      </text>
      {rows.map((row) => (
        <PictureRow key={row.key} row={row} width={width} y={row.y - y} />
      ))}
    </g>
  );
}

function PictureRow({
  row: { label, sign, detail },
  width,
  y,
}: {
  readonly row: Pictured;
  readonly width: number;
  readonly y: number;
}) {
  const { symbol, tone, word } = sign === undefined ? noSign : signOf(sign);
  const text = [label, detail === '' ? say(word) : detail].filter((each) => each !== '').join('  ');
  return (
    <text x="12" y={y} class={tone}>
      {symbol === '' ? '' : `${symbol} `}
      {shortened(text, width)}
    </text>
  );
}

const noSign = { symbol: '', tone: '', word: { en: '', ko: '' } };

/** Width of an average character (px) in the picture's font. */
const characterWidth = 7.4;

function shortened(text: string, width: number): string {
  const most = Math.floor((width - 36) / characterWidth);
  const characters = Array.from(visible(text));
  return characters.length <= most
    ? characters.join('')
    : `${characters.slice(0, most - 1).join('')}…`;
}

function pathOf({ from, to }: Line): string {
  const middle = (from.x + to.x) / 2;
  return `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
}
