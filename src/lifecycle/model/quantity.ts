/** A Kubernetes quantity such as `200m` or `10Gi`. */
export interface Quantity {
  /** Value in billionths, the precision of Kubernetes. */
  readonly nano: bigint;
  /** Canonical form as written by the API server: `1000m` becomes `1`. */
  readonly text: string;
}

const perUnit = 1_000_000_000n;
const decimal = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 } as const;
const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
const form =
  /^([+-]?)(\d+\.?\d*|\.\d+)(?:(Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d{1,2})|(n|u|m|k|M|G|T|P|E)?)$/;
/** Kubernetes accepts no more digits than fit into int64. */
const longest = 40;

/** Parses a quantity as Kubernetes does; undefined for invalid text. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = text.length > longest ? null : form.exec(text);
  if (!match) return undefined;
  const [, sign, number = '', inBinary, exponent, inDecimal = ''] = match;
  const nano = inBinary
    ? scaled(number, 0, 1024n ** BigInt(binary.indexOf(inBinary as (typeof binary)[number])))
    : scaled(
        number,
        exponent === undefined ? decimal[inDecimal as keyof typeof decimal] : +exponent,
      );
  const signed = sign === '-' ? -nano : nano;
  return { nano: signed, text: written(signed, formatOf(inBinary, exponent)) };
}

type Format = 'binary' | 'exponent' | 'decimal';

function formatOf(inBinary: string | undefined, exponent: string | undefined): Format {
  if (inBinary !== undefined) return 'binary';
  return exponent === undefined ? 'decimal' : 'exponent';
}

/** Returns billionths of `number × 10^exponent × factor`, rounded up. */
function scaled(number: string, exponent: number, factor = 1n): bigint {
  const [whole = '', fraction = ''] = number.split('.');
  const digits = BigInt(`${whole}${fraction}` || '0') * factor * perUnit;
  const power = exponent - fraction.length;
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}

function written(nano: bigint, format: Format): string {
  if (nano === 0n) return '0';
  const isSmall = nano > -1024n * perUnit && nano < 1024n * perUnit;
  if (format === 'binary' && !isSmall && nano % perUnit === 0n)
    return inBinaryUnits(nano / perUnit);
  return inDecimalUnits(nano, format === 'exponent');
}

function inBinaryUnits(value: bigint): string {
  let rest = value;
  let unit = 0;
  while (rest % 1024n === 0n && unit < binary.length - 1) {
    rest /= 1024n;
    unit++;
  }
  return `${rest}${binary[unit]}`;
}

function inDecimalUnits(nano: bigint, withExponent: boolean): string {
  let rest = nano;
  let exponent = -9;
  while (rest % 1000n === 0n && exponent < 18) {
    rest /= 1000n;
    exponent += 3;
  }
  if (withExponent) return exponent === 0 ? `${rest}` : `${rest}e${exponent}`;
  const suffix = Object.entries(decimal).find(([, power]) => power === exponent)?.[0] ?? '';
  return `${rest}${suffix}`;
}
