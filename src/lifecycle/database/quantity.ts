const factors: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Returns the bytes of a Kubernetes quantity such as `10Gi` or `1e9`; NaN if the text is none. */
export function bytesOf(quantity: string): number {
  const [, digits, exponent = '', suffix = ''] =
    /^(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?([a-zA-Z]{0,2})$/.exec(quantity.trim()) ?? [];
  const factor = factors[suffix];
  if (digits === undefined || factor === undefined) return Number.NaN;
  return Number(`${digits}${exponent}`) * factor;
}
