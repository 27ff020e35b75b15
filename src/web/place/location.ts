import { signal } from '@preact/signals';
import type { Language } from '../../api/texts/text.ts';
import { language, languages, preferredLanguage } from '../words/language.ts';
import { type Fields, type Place, placeOf, searchOf, type View } from './place.ts';

/** Place in the address bar. */
export const place = signal<Place>({ view: 'fleet', fields: {} });

/** Returns a screen's address. */
export function hrefTo(view: View, fields: Fields = {}): string {
  return searchOf({ view, fields }, language.value);
}

/** Returns the current screen's address in a language. */
export function hrefIn(lang: Language): string {
  return searchOf(place.value, lang);
}

/** Opens an address of the page; `replace`: without a new entry for the back button. */
export function open(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, '', href);
  else history.pushState('followed', '', href);
  if (!replace) scrollTo(0, 0);
  readLocation();
}

/** Follows the address bar: back button, and links inside the page without a reload. */
export function followLocation(): void {
  readLocation();
  addEventListener('popstate', readLocation);
  document.addEventListener('click', followLink);
}

function readLocation(): void {
  const wanted = new URLSearchParams(location.search).get('lang');
  language.value =
    languages.find((each) => each === wanted) ?? preferredLanguage(navigator.languages);
  place.value = placeOf(location.search);
}

function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const href = link?.getAttribute('href');
  if (!isPlain(event) || !href?.startsWith('?')) return;
  event.preventDefault();
  open(href);
}

/** A click with a modifier key belongs to the browser: new tab, new window, download. */
function isPlain({ button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented }: MouseEvent) {
  return button === 0 && !(metaKey || ctrlKey || shiftKey || altKey || defaultPrevented);
}

/** Returns a field from a sent form; the browser keeps the page. */
export function sentText(event: SubmitEvent, name: string): string {
  event.preventDefault();
  const value = new FormData(event.currentTarget as HTMLFormElement).get(name);
  return typeof value === 'string' ? value.trim() : '';
}
