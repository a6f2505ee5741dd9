// The URL of a viewer's request, which some proxies append to the URL of forward authentication.

export const FORWARD_AUTH_PATH = '/v1/forward-auth';

/** Everything below it is the URL of the viewer: Envoy appends path and query to its `path_prefix`. */
export const BELOW_FORWARD_AUTH = `${FORWARD_AUTH_PATH}/`;

/** Returns the URL for the router, which must see nothing that a viewer chose. */
export function withoutViewerUrl({ url = '' }: { url?: string | undefined }): string {
  return url.startsWith(BELOW_FORWARD_AUTH) ? BELOW_FORWARD_AUTH : url;
}

/** Query parameter that begins the URL of the viewer, which extends to the end of the query. */
export const VIEWER_URL_PARAMETER = 'uri';

const VIEWER_URL = new RegExp(`[?&]${VIEWER_URL_PARAMETER}=.*`, 's');

/** Removes the URL of the viewer. The parameters of the proxy precede it, so the viewer cannot add any. */
export function withoutViewerQuery(url: string): string {
  return url.replace(VIEWER_URL, '');
}
