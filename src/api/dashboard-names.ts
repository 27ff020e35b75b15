/** Names between the page and its server. The page imports them without the schemas and their library. */

/** Path of the login: the page sends `{token}` and gets a cookie. */
export const loginPath = '/login';

/** Path of the stream with changed rows (server-sent events). */
export const tabEventsPath = '/events';

/** Header of all requests that write, with value `1`: a form of a foreign page cannot send a header. */
export const writeHeader = 'x-multinic-dashboard';
