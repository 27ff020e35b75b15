import type { Fields } from '../place/place.ts';

/** A screen gets the fields of the address. */
export interface ScreenProps {
  readonly fields: Fields;
}
