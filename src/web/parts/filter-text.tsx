import { hrefTo, open, sentText } from '../place/location.ts';
import { changed, type Fields, type View } from '../place/place.ts';

/** Field for a text filter on a screen's rows. */
export function FilterText({
  view,
  fields,
  name,
  label,
  button,
}: {
  readonly view: View;
  readonly fields: Fields;
  /** Field of the address with the text. */
  readonly name: string;
  readonly label: string;
  readonly button: string;
}) {
  const value = fields[name] ?? '';
  const apply = (event: SubmitEvent) => {
    open(hrefTo(view, changed(fields, { [name]: sentText(event, name) })));
  };
  return (
    <form class="filter" onSubmit={apply}>
      <input
        type="search"
        name={name}
        key={value}
        defaultValue={value}
        maxLength={255}
        aria-label={label}
        placeholder={label}
      />
      <button type="submit">{button}</button>
    </form>
  );
}
