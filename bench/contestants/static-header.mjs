// The limit: a token that was there before, in the defaults of the instance. Nothing renews it.
export const name = 'static header'

export async function create({ instance, obtain }) {
  const { accessToken } = await obtain()
  instance.defaults.headers.common.Authorization = `Bearer ${accessToken}`
  return { get: (url, config) => instance.get(url, config) }
}
